/** Serves the descriptions of this API for programs and people. */
import { ROUTES } from '@tutti/protocol'

import { asyncApiDocument } from '../documents/async-api-document.ts'
import { DOCS_PAGE, DOCS_POLICY } from '../documents/docs-page.ts'
import { readDocsScript } from '../documents/docs-script.ts'
import { createDocumentHandler, type DocumentHandler } from '../documents/document-handler.ts'
import { openApiDocument } from '../documents/open-api-document.ts'

import type { HttpRoute } from '@tutti/gateway'
import type { ResolvedControlApiOptions } from '../options.ts'

/** Makes clients revalidate on each load, nearly always with 304, so that a new version shows at once. */
const REVALIDATE = 'no-cache'

/** Caching of the script, which changes only with the version of Tutti; an older one shows the same document. */
const ONE_WEEK = 'public, max-age=604800'

/** Returns the routes of the documents and of the page that shows them. */
export function documentRoutes(_options: ResolvedControlApiOptions): readonly HttpRoute[] {
  const openApi = jsonDocument(openApiDocument)
  const asyncApi = jsonDocument(asyncApiDocument)
  const page = createDocumentHandler({
    source: () => Promise.resolve(new TextEncoder().encode(DOCS_PAGE)),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': REVALIDATE,
      'content-security-policy': DOCS_POLICY,
      'referrer-policy': 'no-referrer',
    },
  })
  const script = createDocumentHandler({
    source: readDocsScript,
    headers: { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': ONE_WEEK },
  })
  return [
    { ...ROUTES.getOpenApi, handle: ({ request }) => openApi(request) },
    { ...ROUTES.getAsyncApi, handle: ({ request }) => asyncApi(request) },
    { ...ROUTES.getDocs, handle: ({ request }) => page(request) },
    { ...ROUTES.getDocsScript, handle: ({ request }) => script(request) },
  ]
}

function jsonDocument(make: () => object): DocumentHandler {
  return createDocumentHandler({
    source: () => Promise.resolve(new TextEncoder().encode(JSON.stringify(make()))),
    headers: { 'content-type': 'application/json', 'cache-control': REVALIDATE },
  })
}
