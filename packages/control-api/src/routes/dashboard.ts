/** Serves the dashboard: its page at `/` for browsers, and the files that it loads. */
import { createDocumentHandler } from '../documents/document-handler.ts'
import { fileKind } from '../dashboard/file-kind.ts'
import { prefersHtml } from '../http/accept.ts'

import type { HttpRoute } from '@tutti/gateway/internal'
import type { Dashboard, DashboardFile } from '../dashboard/read-dashboard.ts'

/**
 * Content security policy of the page. It loads from and connects to its own server only, has no inline script, and
 * creates no script from text. @see https://www.w3.org/TR/CSP3/
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

/** Browser features that the dashboard does not use. */
const DISABLED_FEATURES = [
  'camera',
  'display-capture',
  'geolocation',
  'microphone',
  'payment',
  'usb',
]

/** Makes browsers revalidate on each load, nearly always with 304, so that a new version shows at once. */
const REVALIDATE = 'no-cache'

/** Headers of the page. */
const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': REVALIDATE,
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': DISABLED_FEATURES.map((device) => `${device}=()`).join(', '),
}

/** Caching of files in `assets/`, whose names contain a hash of their content. */
const IMMUTABLE = 'public, max-age=31536000, immutable'

/** Returns the route that serves the dashboard to browsers at `/`. It is public; the page itself asks for a key. */
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

/** Returns one route per file that the page loads. No other path below `/assets/` exists. */
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
