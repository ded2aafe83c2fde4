/** Tools with known types, for the type tests, which never call them. */
import { defineTextTool, defineTool, Type, type AgentTool } from '@tutti/core'

export interface Page {
  url: string
  text: string
}

const PageSchema = Type.Object({ url: Type.String(), text: Type.String() })

/** `{ query }` to `{ pages }`. */
export const search = defineTool({
  name: 'search',
  description: 'Finds pages',
  input: Type.Object({ query: Type.String() }),
  output: Type.Object({ pages: Type.Array(PageSchema) }),
  execute: () => ({ pages: [] }),
})

/** `{ query }` to a list. */
export const list = defineTool({
  name: 'list',
  description: 'Lists pages',
  input: Type.Object({ query: Type.String() }),
  output: Type.Array(PageSchema),
  execute: () => [],
})

/** `{ url }` to a page. */
export const read = defineTool({
  name: 'read',
  description: 'Reads a page',
  input: Type.Object({ url: Type.String() }),
  output: PageSchema,
  execute: ({ url }) => ({ url, text: '' }),
})

/** A page to `{ words }`. */
export const count = defineTool({
  name: 'count',
  description: 'Counts words',
  input: Type.Object({ text: Type.String(), limit: Type.Optional(Type.Integer()) }),
  output: Type.Object({ words: Type.Integer() }),
  execute: () => ({ words: 0 }),
})

/** `{ url }` to text. */
export const save = defineTool({
  name: 'save',
  description: 'Saves a page',
  input: Type.Object({ url: Type.String() }),
  execute: () => 'saved',
})

/** Text to text. */
export const shout = defineTextTool({
  name: 'shout',
  description: 'Shouts',
  execute: (text) => text.toUpperCase(),
})

/** A page to a page, or text. */
export const shorten = defineTool({
  name: 'shorten',
  description: 'Shortens a page',
  input: PageSchema,
  output: Type.Union([PageSchema, Type.String()]),
  execute: (page) => page,
})

/** An imported tool whose types the compiler does not know. */
export declare const imported: AgentTool
