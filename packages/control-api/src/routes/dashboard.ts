/** The dashboard: a page for people, where programs get a text, and the files that it loads. */
import { createDocumentHandler } from '../documents/document-handler.ts'
import { fileKind } from '../dashboard/file-kind.ts'
import { prefersHtml } from '../http/accept.ts'

import type { HttpRoute } from '@tutti/gateway'
import type { Dashboard, DashboardFile } from '../dashboard/read-dashboard.ts'

/**
 * The page loads what its server has and asks its server alone, over HTTP and WebSocket. No script is inside
 * of it, and none is made of text. @see https://www.w3.org/TR/CSP3/
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

/** What of the machine no page needs that shows runs. */
const DISABLED_FEATURES = [
  'camera',
  'display-capture',
  'geolocation',
  'microphone',
  'payment',
  'usb',
]

/** Asked for again each time, and nearly always answered with 304: a new version shows at once. */
const REVALIDATE = 'no-cache'

/** The headers of the page. */
const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': REVALIDATE,
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': DISABLED_FEATURES.map((device) => `${device}=()`).join(', '),
}

/** The names of files in `assets/` have a hash of what is in them: what is kept never changes. */
const IMMUTABLE = 'public, max-age=31536000, immutable'

/** `GET /` of a browser. Everybody may have the page: it is the page that asks for a key. */
export function dashboardPageRoute({ page }: Dashboard): HttpRoute {
  const answer = createDocumentHandler({
    source: () => Promise.resolve(page),
    headers: PAGE_HEADERS,
    varies: ['accept'],
  })
  return {
    method: 'GET',
    path: '/',
    scope: null,
    isFor: ({ headers }) => prefersHtml(headers.get('accept')),
    handle: ({ request }) => answer(request),
  }
}

/** What the page loads, each file at its own address: nothing else below `/assets/` is anything. */
export function dashboardFileRoutes({ files }: Dashboard): readonly HttpRoute[] {
  return files.map(fileRoute)
}

function fileRoute({ name, bytes }: DashboardFile): HttpRoute {
  const { contentType, isCompressed } = fileKind(name)
  const answer = createDocumentHandler({
    source: () => Promise.resolve(bytes),
    headers: {
      'content-type': contentType,
      'cache-control': name.startsWith('assets/') ? IMMUTABLE : REVALIDATE,
    },
    isCompressed,
  })
  return {
    method: 'GET',
    path: `/${name}`,
    scope: null,
    handle: ({ request }) => answer(request),
  }
}
