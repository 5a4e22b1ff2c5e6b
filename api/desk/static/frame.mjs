// Draws the pages of a PDF, in a frame that has no origin, no network and no way to the desk but messages. The bytes come by message;
// the size of a page goes back with its words and their places, in parts of the page's width and height. What is drawn is a picture:
// no links, no forms, none of the scripts that a PDF may bring.
const mostPixels = 4_000_000, widest = 1600;
const mostWords = 4000, longestWord = 200;

const canvas = document.querySelector("canvas");
const { library, worker, decoders } = document.body.dataset;
const desk = window.parent;
const say = (message) => desk.postMessage(message, "*"); // The frame knows no origin; the desk alone is above it.

let file, wanted, drawing;

// The file's pictures and fonts are unpacked in a worker, which ends with the frame. Without an origin the frame can begin a worker
// only with a text of its own, and no module: the library is imported there.
async function open(data) {
  const pdf = await import(library);
  const whole = (address) => new URL(address, location.href).href;
  const address = JSON.stringify(whole(worker));
  const source = `import(${address}).then(() => postMessage("loaded"), () => postMessage("lost"));`;
  const port = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  await new Promise((loaded, lost) => {
    port.addEventListener("message", ({ data }) => (data === "loaded" ? loaded() : data === "lost" && lost()));
    port.addEventListener("error", lost);
  });
  pdf.GlobalWorkerOptions.workerPort = port;
  // What scanners and fax machines write is unpacked by scripts: the frame may compile nothing.
  return pdf.getDocument({ data, useWasm: false, wasmUrl: whole(decoders), useWorkerFetch: false, enableXfa: false,
    maxImageSize: 64_000_000, isImageDecoderSupported: false, verbosity: 0 }).promise;
}

async function draw(number) {
  const page = await file.getPage(Math.min(Math.max(1, number), file.numPages));
  const natural = page.getViewport({ scale: 1 });
  const scale = Math.min(widest / natural.width, Math.sqrt(mostPixels / (natural.width * natural.height)));
  const view = page.getViewport({ scale });
  canvas.width = Math.max(1, Math.floor(view.width));
  canvas.height = Math.max(1, Math.floor(view.height));
  await page.render({ canvas, viewport: view }).promise;
  const words = wordsOf((await page.getTextContent()).items, view);
  page.cleanup();
  say({ kind: "drawn", number: page.pageNumber, pages: file.numPages, width: canvas.width, height: canvas.height, words });
}

// The words of a page. A PDF places runs of text; where words begin within a run is measured.
function wordsOf(runs, view) {
  const words = [], ruler = new OffscreenCanvas(1, 1).getContext("2d");
  ruler.font = "100px sans-serif";
  for (const run of runs) {
    const whole = run.str && ruler.measureText(run.str).width;
    if (!whole) continue;
    const [a, b, c, d, e, f] = run.transform, along = Math.hypot(a, b) || 1;
    const corner = (part, up) => view.convertToViewportPoint(
      e + (a / along) * run.width * part + c * up, f + (b / along) * run.width * part + d * up);
    for (const { 0: text, index } of run.str.matchAll(/\S+/g)) {
      const from = ruler.measureText(run.str.slice(0, index)).width / whole;
      const to = ruler.measureText(run.str.slice(0, index + text.length)).width / whole;
      const corners = [corner(from, -0.22), corner(to, -0.22), corner(from, 0.8), corner(to, 0.8)];
      const x = corners.map((at) => at[0] / view.width), y = corners.map((at) => at[1] / view.height);
      words.push({ text: text.slice(0, longestWord),
        left: Math.min(...x), top: Math.min(...y), right: Math.max(...x), bottom: Math.max(...y) });
      if (words.length === mostWords) return words;
    }
  }
  return words;
}

// One page is drawn at a time; of those asked for meanwhile the last one counts.
async function drawWanted() {
  if (drawing) return;
  drawing = true;
  try {
    while (wanted) {
      const number = wanted;
      wanted = 0;
      await draw(number);
    }
  } catch {
    say({ kind: "failed", why: "broken" });
  }
  drawing = false;
}

addEventListener("message", async ({ source, data }) => {
  if (source !== desk) return;
  if (data.kind === "page" && file) {
    wanted = data.number;
    drawWanted();
  }
  if (data.kind === "open" && !file) {
    try {
      file = await open(data.bytes);
      wanted = data.number;
      drawWanted();
    } catch (error) {
      say({ kind: "failed", why: error?.name === "PasswordException" ? "password" : "broken" });
    }
  }
});
say({ kind: "ready" });
