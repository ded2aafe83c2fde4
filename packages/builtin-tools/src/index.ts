/** Tools that most agents need, each created by a function with its settings. */

// To compute
export { calculator } from './calculator/calculator.ts'
export { datetime, type DatetimeOptions } from './datetime/datetime.ts'
export {
  jsonParser,
  type JsonParserInput,
  type JsonParserOptions,
} from './json-parser/json-parser.ts'

// To read and write files
export { fileRead, type FileReadInput, type FileReadOptions } from './files/file-read.ts'
export { fileWrite, type FileWriteInput, type FileWriteOptions } from './files/file-write.ts'
export type { FileOptions } from './files/options.ts'

// To ask a person
export { humanInput, type HumanInputOptions } from './human-input.ts'

// To reach the web
export { webScrape, type ScrapedPage } from './web/scrape/web-scrape.ts'
export type { ScrapeInput, WebScrapeOptions } from './web/scrape/options.ts'
export type { SearchInput, WebSearchOptions } from './web/search/options.ts'
export type { SearchProvider, SearchRequest, SearchResult } from './web/search/search-provider.ts'
export type { SearchServiceOptions } from './web/search/search-service.ts'
export { serpApi } from './web/search/serp-api.ts'
export { tavily } from './web/search/tavily.ts'
export { webSearch, type SearchOutput } from './web/search/web-search.ts'
