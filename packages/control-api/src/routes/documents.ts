/** What this API is, for programs and people. */
import { ROUTES } from '@tutti/protocol'

import { asyncApiDocument } from '../documents/async-api-document.ts'
import { DOCS_PAGE, DOCS_POLICY } from '../documents/docs-page.ts'
import { readDocsScript } from '../documents/docs-script.ts'
import { keptDocument, type DocumentAnswer } from '../documents/kept-document.ts'
import { openApiDocument } from '../documents/open-api-document.ts'

import type { HttpRoute } from '@tutti/gateway'
import type { ResolvedControlApiOptions } from '../options.ts'

/** Asked for again each time, and nearly always answered with 304: a new version shows at once. */
const ASK_AGAIN = 'no-cache'

/** The script changes only with the version of Tutti, and an older one shows the same document. */
const A_WEEK = 'public, max-age=604800'

/** The routes of the documents and the page that shows them. */
export function documentRoutes(_options: ResolvedControlApiOptions): readonly HttpRoute[] {
  const openApi = jsonDocument(openApiDocument)
  const asyncApi = jsonDocument(asyncApiDocument)
  const page = keptDocument({
    source: () => Promise.resolve(new TextEncoder().encode(DOCS_PAGE)),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': ASK_AGAIN,
      'content-security-policy': DOCS_POLICY,
      'referrer-policy': 'no-referrer',
    },
  })
  const script = keptDocument({
    source: readDocsScript,
    headers: { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': A_WEEK },
  })
  return [
    { ...ROUTES.getOpenApi, handle: ({ request }) => openApi(request) },
    { ...ROUTES.getAsyncApi, handle: ({ request }) => asyncApi(request) },
    { ...ROUTES.getDocs, handle: ({ request }) => page(request) },
    { ...ROUTES.getDocsScript, handle: ({ request }) => script(request) },
  ]
}

function jsonDocument(make: () => object): DocumentAnswer {
  return keptDocument({
    source: () => Promise.resolve(new TextEncoder().encode(JSON.stringify(make()))),
    headers: { 'content-type': 'application/json', 'cache-control': ASK_AGAIN },
  })
}
