import { defineTextTool, defineTool, toolContext, Type } from '@tutti/core'
import { branch, mapEach, parallel, pipeline } from '../src/index.ts'

const news = defineTextTool({
  name: 'news',
  description: 'Finds news',
  execute: (subject) => `News of ${subject}`,
})
const papers = defineTextTool({
  name: 'papers',
  description: 'Finds papers',
  execute: () => Promise.reject(new Error('Library closed')),
})
const shorten = defineTool({
  name: 'shorten',
  description: 'Shortens a text',
  input: Type.Object({ text: Type.String() }),
  execute: ({ text }) => `${text.slice(0, 4)}…`,
})

const both = parallel({ news, papers }, { errorStrategy: 'CONTINUE_ON_FAILURE' })
console.log((await both.call('tutti', toolContext())).output)

const shortenLong = branch({ when: ({ text }) => text.length > 4, yes: shorten })
const all = pipeline([mapEach(shortenLong, { concurrency: 8 })], { name: 'all' })
const items = [{ text: 'tutti' }, { text: 'solo' }]
console.log((await all.call({ items }, toolContext())).output)
// {"news":"News of tutti","papers":{"error":"Library closed"}}
// ["tutt…",{"text":"solo"}]
