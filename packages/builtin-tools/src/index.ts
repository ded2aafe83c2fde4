/** Tools that most agents need, each created by a function with its settings. */

// To compute
export { calculator } from './calculator/calculator.ts'
export { datetime } from './datetime/datetime.ts'
export { jsonParser } from './json-parser/json-parser.ts'

// To read and write files
export { fileRead } from './files/file-read.ts'
export { fileWrite } from './files/file-write.ts'

// To ask a person
export { humanInput } from './human-input.ts'

// To reach the web
export { webScrape } from './web/scrape/web-scrape.ts'
export type { SearchProvider, SearchRequest, SearchResult } from './web/search/search-provider.ts'
export { serpApi } from './web/search/serp-api.ts'
export { tavily } from './web/search/tavily.ts'
export { webSearch } from './web/search/web-search.ts'
