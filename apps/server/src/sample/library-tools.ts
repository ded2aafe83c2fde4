/** The tools of the sample ensembles: typed, and usable offline. */
import { defineTool, ToolResult, Type } from '@tutti/core'

import { LIBRARY, type Article } from './library.ts'

/** Words that do not describe a subject. */
const STOP_WORDS = new Set(
  'a an and are as at be by can for from how in is it of on or that the this to what when which who why with'.split(
    ' ',
  ),
)

/** Finds articles on a subject. */
export const searchLibrary = defineTool({
  name: 'search_library',
  description:
    'Searches a small library of short articles. Returns the ids and titles of the best matches, best first.',
  input: Type.Object({
    query: Type.String({ minLength: 1, description: 'A subject in a few words' }),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10,
        description: 'Maximum number of articles; 3 by default',
      }),
    ),
  }),
  output: Type.Array(Type.Object({ id: Type.String(), title: Type.String() })),
  execute({ query, limit = 3 }) {
    const found = rank(listWords(query)).slice(0, limit)
    return found.map(({ id, title }) => ({ id, title }))
  },
})

/** Returns the text of an article. */
export const readArticle = defineTool({
  name: 'read_article',
  description: 'Returns the full text of one article of the library.',
  input: Type.Object({ id: Type.String({ description: 'An id that search_library returned' }) }),
  execute({ id }) {
    const article = LIBRARY.find((candidate) => candidate.id === id)
    if (article !== undefined) return ToolResult.success(`${article.title}\n${article.text}`)
    const known = LIBRARY.map((candidate) => candidate.id).join(', ')
    return ToolResult.failure(`Unknown article "${id}". Known: ${known}`)
  },
})

/** Average reading speed of an adult. */
const WORDS_PER_MINUTE = 240

export const measureText = defineTool({
  name: 'measure_text',
  description: 'Counts the words and sentences of a text and estimates how long it takes to read.',
  input: Type.Object({ text: Type.String({ minLength: 1 }) }),
  output: Type.Object({
    words: Type.Integer(),
    sentences: Type.Integer(),
    readingSeconds: Type.Integer(),
  }),
  execute({ text }) {
    const words = text.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu)?.length ?? 0
    const sentences = text.match(/[.!?]+(?=\s|$)/g)?.length ?? 0
    return { words, sentences, readingSeconds: Math.ceil((words / WORDS_PER_MINUTE) * 60) }
  },
})

function listWords(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return words.filter((word) => !STOP_WORDS.has(word))
}

/** Ranks the articles that contain any of the words: by the number of words, then by occurrences. A title counts twice. */
function rank(words: readonly string[]): readonly Article[] {
  return LIBRARY.map((article) => ({ article, ...score(article, words) }))
    .filter(({ distinct }) => distinct > 0)
    .toSorted((a, b) => b.distinct - a.distinct || b.times - a.times)
    .map(({ article }) => article)
}

function score(
  { title, text }: Article,
  words: readonly string[],
): { distinct: number; times: number } {
  const own = listWords(`${title} ${title} ${text}`)
  const counts = words.map((word) => own.filter((candidate) => candidate === word).length)
  return {
    distinct: counts.filter((count) => count > 0).length,
    times: counts.reduce((sum, count) => sum + count, 0),
  }
}
