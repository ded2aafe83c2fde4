import { defineTextTool, defineTool, runTool, toModelText, Type } from '@tutti/core'
import { mapEach, pipelineBuilder } from '../src/index.ts'

const Link = Type.Object({ url: Type.String() })

const search = defineTool({
  name: 'search',
  description: 'Finds pages about a subject',
  input: Type.Object({ query: Type.String() }),
  output: Type.Array(Link),
  execute: ({ query }) => [{ url: `https://a.example/${query}` }, { url: 'https://b.example' }],
})
const readPage = defineTool({
  name: 'read_page',
  description: 'Reads a page',
  input: Link,
  output: Type.Object({ text: Type.String() }),
  async execute({ url }, { signal }) {
    signal.throwIfAborted()
    return { text: `All about ${url}.` }
  },
})
const count = defineTextTool({
  name: 'count',
  description: 'Counts the words of a text',
  execute: (text) => `${text.split(' ').length} words`,
})

const research = pipelineBuilder({
  name: 'research',
  description: 'Says how much there is to read about a subject',
})
  .step(search) // returns links, which the next step accepts: the compiler checks it
  .step(mapEach(readPage))
  .adapter(({ structured }) => structured.map(({ text }) => text).join(' '))
  .step(count)
  .build()

const call = { id: 'call_1', name: 'research', arguments: '{"query":"tutti"}' }
const { result } = await runTool(research, call, {
  onNestedOutcome: ({ id }, { end }) => console.log(`${id} ${end}`),
})
console.log(toModelText(result))
// call_1/1:search finished
// call_1/2:each_read_page/#0 finished
// call_1/2:each_read_page/#1 finished
// call_1/2:each_read_page finished
// call_1/3:count finished
// 6 words
