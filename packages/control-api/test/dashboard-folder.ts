/** A small built dashboard like that of its build: a page, and files with hashed names. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** `Accept` header of a browser that opens an address. */
export const BROWSER = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
}

/** Content of the page. */
export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<link rel="icon" href="./favicon.svg" type="image/svg+xml">
<title>Stage</title>
<script type="module" crossorigin src="./assets/index-DKaX9_-q.js"></script>
<link rel="stylesheet" crossorigin href="./assets/index-B2c_4d5e.css">
</head>
<body>
<h1>Stage</h1>
<img alt="A note" src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E">
<p id="said"></p>
</body>
</html>
`

/** Bytes that hardly compress, like fonts. */
export const FONT = Buffer.from(Array.from({ length: 512 }, (_, n) => (n * n * 31) % 251))

/** Script that calls its server over HTTP and WebSocket, with the key in the URL fragment. */
const SCRIPT = `import { instruments } from './part-e5F6_7g8.js'
const key = location.hash.slice(1)
const headers = { authorization: 'Bearer ' + key }
const status = await (await fetch('./api/status', { headers })).json()
const { ticket } = await (await fetch('./api/tickets', { method: 'POST', headers })).json()
const socket = new WebSocket(new URL('./ws?ticket=' + ticket, location.href))
const hello = await new Promise((resolve, reject) => {
  socket.onmessage = ({ data }) => resolve(JSON.parse(data))
  socket.onerror = () => reject(new Error('The WebSocket failed'))
})
document.getElementById('said').textContent =
  [instruments, status.lifecycleState, hello.type].join(', ')
`

const STYLE = `@font-face { font-family: Plex; src: url('./plex-H9i0j1k2.woff2') format('woff2') }
h1 { font-family: Plex, serif; color: rgb(1, 2, 3) }
`

const FILES: Readonly<Record<string, string | Buffer>> = {
  'index.html': PAGE,
  'favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>',
  'assets/index-DKaX9_-q.js': SCRIPT,
  'assets/part-e5F6_7g8.js': `export const instruments = 'violin'\n`,
  'assets/index-B2c_4d5e.css': STYLE,
  'assets/plex-H9i0j1k2.woff2': FONT,
  // Files that no build creates, and files that would shadow routes.
  'openapi.json': '{}',
}

/** A folder that is removed at the end of its block. */
export interface DashboardFolder extends Disposable {
  readonly path: string
  write(name: string, content: string | Buffer): void
  remove(name: string): void
}

/** Writes the dashboard into a new folder. */
export function dashboardFolder(): DashboardFolder {
  const path = mkdtempSync(join(tmpdir(), 'tutti-dashboard-'))
  const write = (name: string, content: string | Buffer): void => {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), content)
  }
  for (const [name, content] of Object.entries(FILES)) write(name, content)
  return {
    path,
    write,
    remove: (name) => rmSync(join(path, name)),
    [Symbol.dispose]: () => rmSync(path, { recursive: true }),
  }
}
