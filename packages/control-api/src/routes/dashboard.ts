/** The dashboard: a page for people, where programs get a text, and the files that it loads. */
import { keptDocument } from '../documents/kept-document.ts'
import { fileKind } from '../dashboard/file-kind.ts'
import { ASK_AGAIN, PAGE_HEADERS } from '../dashboard/page-headers.ts'
import { prefersHtml } from '../http/prefers-html.ts'

import type { HttpRoute } from '@tutti/gateway'
import type { Dashboard, DashboardFile } from '../dashboard/read-dashboard.ts'

/** The names of files in `assets/` have a hash of what is in them: what is kept never changes. */
const FOR_EVER = 'public, max-age=31536000, immutable'

/** `GET /` of a browser. Everybody may have the page: it is the page that asks for a key. */
export function dashboardPageRoute({ page }: Dashboard): HttpRoute {
  const answer = keptDocument({
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
  const answer = keptDocument({
    source: () => Promise.resolve(bytes),
    headers: {
      'content-type': contentType,
      'cache-control': name.startsWith('assets/') ? FOR_EVER : ASK_AGAIN,
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
