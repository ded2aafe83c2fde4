/** Serves the descriptions of this API for programs and people. */
import { ROUTES } from '@tutti/protocol'

import { buildAsyncApiDocument } from '../documents/async-api-document.ts'
import { DOCS_PAGE, DOCS_POLICY } from '../documents/docs-page.ts'
import { readDocsScript } from '../documents/docs-script.ts'
import { createDocumentHandler, type DocumentHandler } from '../documents/document-handler.ts'
import { buildOpenApiDocument } from '../documents/open-api-document.ts'

import type { HttpRoute } from '@tutti/gateway/internal'
import type { ResolvedControlApiOptions } from '../options.ts'

/** Makes clients revalidate on each load, nearly always with 304, so that a new version shows at once. */
const REVALIDATE = 'no-cache'

/** Caching of the script, which changes only with the version of Tutti; an older one shows the same document. */
const ONE_WEEK = 'public, max-age=604800'

/** Returns the routes of the documents and of the page that shows them. */
export function documentRoutes({
  extensions,
}: Pick<ResolvedControlApiOptions, 'extensions'>): readonly HttpRoute[] {
  const openApi = jsonDocument(() => buildOpenApiDocument(extensions))
  const asyncApi = jsonDocument(() => buildAsyncApiDocument(extensions))
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

/** Creates the handler of a JSON document, which is built on the first request. */
function jsonDocument(build: () => object): DocumentHandler {
  let document: object | undefined
  return createDocumentHandler({
    source() {
      document ??= build()
      return Promise.resolve(new TextEncoder().encode(JSON.stringify(document)))
    },
    headers: { 'content-type': 'application/json', 'cache-control': REVALIDATE },
  })
}
