/** A typed tool: tried by hand, told every problem of a wrong call, and given to a model that mends its call. */
import { runTool, toModelText, toolContext, toStandardSchema } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'

import { bookTable } from './book-table.ts'

console.log('# By hand: the body is a function, its input is typed')
const booked = await bookTable.execute(
  { day: '2026-12-24', place: 'garden', guests: [{ name: 'Ada', allergies: ['nuts'] }] },
  toolContext(),
)
console.log(booked)

console.log('\n# As a model calls it: text in, text out, slips of form mended')
const slips = '{"day":"2026-12-24","guests":{"name":"Ada"},"mood":"good"}'
const mended = await runTool(bookTable, { id: 'call-1', name: 'book_table', arguments: slips })
console.log(toModelText(mended.result))

console.log('\n# A wrong call: every problem at once, and the body never runs')
const wrong = { day: 'tomorrow', place: 'roof', guests: [{ name: '' }, { allergies: [3] }] }
const refused = await runTool(bookTable, {
  id: 'call-2',
  name: 'book_table',
  arguments: JSON.stringify(wrong),
})
console.log(toModelText(refused.result).replaceAll(/[:;] (?=\/)/g, '\n  '))

console.log('\n# A tool is a Standard Schema of its input: for a form, a router, another framework')
const form = await bookTable['~standard'].validate({ day: '2026-12-24', guests: [{ name: 'Ada' }] })
console.log(form.issues ?? form.value)

// Plain JSON Schema does as well as TypeBox, and so do Zod, Valibot and ArkType.
const Stars = toStandardSchema({ type: 'integer', minimum: 1, maximum: 5 } as const)
const { issues = [] } = await Stars['~standard'].validate(6)
console.log(issues.map(({ message }) => message))

console.log('\n# A model that is told what was wrong, and mends its call')
// A real model instead: langchainModel('anthropic:claude-haiku-4-5') of @tutti/langchain
const model = scriptedModel([
  { toolCalls: [{ name: 'book_table', arguments: { day: '24.12.', guests: [] } }] },
  { toolCalls: [{ name: 'book_table', arguments: { day: '2026-12-24', guests: ['Ada'] } }] },
  {
    toolCalls: [{ name: 'book_table', arguments: { day: '2026-12-24', guests: { name: 'Ada' } } }],
  },
  ({ messages }) => `Done: ${messages.at(-1)?.content}`,
])
const book = task({ description: 'Book a table for {name}', tools: [bookTable] })
const { status, output } = await ensemble({ name: 'evening', tasks: [book], model }).run(
  { name: 'Ada' },
  {
    onEvent(event) {
      if (event.type === 'tool_called') console.log(event.outcome, event.toolResult)
    },
  },
)
console.log(status, output)
