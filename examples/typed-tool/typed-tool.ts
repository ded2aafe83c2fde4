/** A typed tool: called directly, with invalid input, and by a model that corrects its call. */
import { runTool, toModelText, toolContext, toStandardSchema } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'

import { bookTable } from './book-table.ts'

console.log('# A direct call: a function with typed input')
const booked = await bookTable.execute(
  { day: '2026-12-24', place: 'garden', guests: [{ name: 'Ada', allergies: ['nuts'] }] },
  toolContext(),
)
console.log(booked)

console.log('\n# A call by a model: text in, text out, small mistakes corrected')
const mistakes = '{"day":"2026-12-24","guests":{"name":"Ada"},"mood":"good"}'
const corrected = await runTool(bookTable, {
  id: 'call-1',
  name: 'book_table',
  arguments: mistakes,
})
console.log(toModelText(corrected.result))

console.log('\n# An invalid call: every problem at once, without running the tool')
const wrong = { day: 'tomorrow', place: 'roof', guests: [{ name: '' }, { allergies: [3] }] }
const rejected = await runTool(bookTable, {
  id: 'call-2',
  name: 'book_table',
  arguments: JSON.stringify(wrong),
})
console.log(toModelText(rejected.result).replaceAll(/[:;] (?=\/)/g, '\n  '))

console.log(
  '\n# The tool as a Standard Schema of its input: for a form, a router, another framework',
)
const form = await bookTable['~standard'].validate({ day: '2026-12-24', guests: [{ name: 'Ada' }] })
console.log(form.issues ?? form.value)

// A schema can be TypeBox, plain JSON Schema, Zod, Valibot or ArkType.
const Stars = toStandardSchema({ type: 'integer', minimum: 1, maximum: 5 } as const)
const { issues = [] } = await Stars['~standard'].validate(6)
console.log(issues.map(({ message }) => message))

console.log('\n# A model that reads what was wrong, and corrects its call')
// To use a real model: langchainModel('anthropic:claude-haiku-4-5') of @tutti/langchain
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
