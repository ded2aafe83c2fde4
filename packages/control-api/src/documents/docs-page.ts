/**
 * The page at `/docs`: Scalar's reference, shown from this server alone.
 *
 * No request leaves the page's origin. Its policy allows the one script that is served beside it and the
 * few lines that start it, by their hash; styles are made by the script, so they are allowed inline.
 */
import { createHash } from 'node:crypto'

/** Settings of Scalar: nothing that asks another server, and nothing that sells. */
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
<noscript>This page needs JavaScript; the same is in <a href="openapi.json">openapi.json</a> and <a href="asyncapi.json">asyncapi.json</a>.</noscript>
<div id="reference"></div>
<script src="docs/reference.js"></script>
<script>${START}</script>
</body>
</html>
`

/** What the page may load and run. @see https://www.w3.org/TR/CSP3/ */
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
