/**
 * The page at `/docs`, which shows Scalar's API reference without requests to other origins.
 *
 * Its content security policy allows the script that this server serves and, by its hash, the inline script that starts
 * it. The script creates inline styles, so these are allowed.
 */
import { createHash } from 'node:crypto'

/** Settings of Scalar: without requests to other servers and without promotion. */
const SETTINGS = {
  url: 'openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: 'never',
  hideClientButton: true,
  agent: { disabled: true, hideAddApi: true },
  mcp: { disabled: true },
  documentDownloadType: 'json',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
}

const START = `if (window.Scalar) Scalar.createApiReference('#reference', ${JSON.stringify(SETTINGS)})
else document.getElementById('reference').hidden = true`

/** The page as HTML. */
export const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Tutti control API</title>
</head>
<body>
<noscript>This page requires JavaScript. The API is also described in <a href="openapi.json">openapi.json</a> and <a href="asyncapi.json">asyncapi.json</a>.</noscript>
<div id="reference"></div>
<script src="docs/reference.js"></script>
<script>${START}</script>
</body>
</html>
`

/** Content security policy of the page. @see https://www.w3.org/TR/CSP3/ */
export const DOCS_POLICY = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${createHash('sha256').update(START).digest('base64')}'`,
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
