import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import javax.xml.transform.stream.StreamSource;
import net.sf.saxon.s9api.Processor;
import net.sf.saxon.s9api.QName;
import net.sf.saxon.s9api.SaxonApiException;
import net.sf.saxon.s9api.XPathCompiler;
import net.sf.saxon.s9api.XdmDestination;
import net.sf.saxon.s9api.XdmItem;
import net.sf.saxon.s9api.XdmNode;
import net.sf.saxon.s9api.XsltCompiler;
import net.sf.saxon.s9api.XsltExecutable;

/**
 * Reads names of files from its input, e-invoices of the syntax that it was called with (CII or UBL), and prints a line for each: the
 * name, a tab, and the rules of EN 16931 1.3.15 and XRechnung 3.0.2 that the invoice breaks; "error" where they can't be applied.
 */
class Validate {
  public static void main(String[] args) throws Exception {
    String syntax = args[0];
    Processor processor = new Processor(false);
    XsltCompiler compiler = processor.newXsltCompiler();
    List<XsltExecutable> rules = new ArrayList<>();
    for (String name : new String[] {"1.3.15/" + syntax.toLowerCase() + "/EN16931", "3.0.2/XRechnung"}) {
      String path = "external/schematron/" + name + "-" + syntax + "-validation.xslt";
      rules.add(compiler.compile(new StreamSource(Validate.class.getClassLoader().getResourceAsStream(path))));
    }
    XPathCompiler paths = processor.newXPathCompiler();
    paths.declareNamespace("svrl", "http://purl.oclc.org/dsdl/svrl");
    BufferedReader files = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String file = files.readLine(); file != null; file = files.readLine()) {
      System.out.println(file + "\t" + broken(file, rules, paths));
    }
  }

  static String broken(String file, List<XsltExecutable> rules, XPathCompiler paths) throws IOException {
    Set<String> broken = new TreeSet<>();
    try {
      for (XsltExecutable each : rules) {
        XdmDestination report = new XdmDestination();
        each.load30().transform(new StreamSource(new File(file)), report);
        for (XdmItem failed : paths.evaluate("//svrl:failed-assert", report.getXdmNode())) {
          broken.add(((XdmNode) failed).getAttributeValue(new QName("id")));
        }
      }
    } catch (SaxonApiException e) {
      return "error";
    }
    return String.join(" ", broken);
  }
}
