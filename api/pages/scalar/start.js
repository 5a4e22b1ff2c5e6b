// Shows the document of this service, and asks nobody else: no fonts, proxies, telemetry or agents from elsewhere.
// Requests that a reader tries out go to this service alone, and tokens are forgotten with the page.
Scalar.createApiReference('#reference', {
  url: 'openapi.json',
  agent: {disabled: true},
  hideClientButton: true,
  mcp: {disabled: true},
  persistAuth: false,
  showDeveloperTools: 'never',
  telemetry: false,
  withDefaultFonts: false,
});
