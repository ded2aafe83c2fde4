import { runTool, toModelText } from '@tutti/core'
import { webScrape, webSearch } from '../src/index.ts'

// A provider is a service, such as tavily({ apiKey }) or serpApi({ apiKey }), or any function.
const search = webSearch({
  provider: (query) =>
    Promise.resolve([
      { title: 'Tutti', url: 'https://example.com/tutti', snippet: `All that plays: ${query}` },
    ]),
})
// Hosts and addresses of your own network must be allowed by name.
const scrape = webScrape({ allow: ['wiki.internal', '10.0.0.0/24'] })

const query = { id: 'call-1', name: 'web_search', arguments: '{"query":"orchestra"}' }
console.log(toModelText((await runTool(search, query)).result))
const url = { id: 'call-2', name: 'web_scrape', arguments: '{"url":"http://169.254.169.254/"}' }
console.log(toModelText((await runTool(scrape, url)).result))
// 1. Tutti
//    URL: https://example.com/tutti
//    All that plays: orchestra
// Error: Failed to fetch URL: Refused to connect to "169.254.169.254": it is a cloud metadata address; the author of the tool can allow it with allow: ['169.254.169.254']
