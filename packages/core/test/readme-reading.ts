import { z } from 'zod'
import { defineTool, runTool, Type } from '../src/index.ts'

const book = defineTool({
  name: 'book',
  description: 'Books a table',
  input: Type.Object({
    guests: Type.Integer({ minimum: 1, default: 2 }),
    outside: Type.Boolean({ default: false }),
    requests: Type.Array(Type.String()),
    note: Type.Optional(Type.String()),
  }),
  execute: (input) => JSON.stringify(input),
})

// Input is coerced only where its meaning is clear.
const args = '{"guests":"4","requests":"window","note":null,"mood":"good"}'
const { result } = await runTool(book, { id: 'call-1', name: 'book', arguments: args })
console.log(result.output)

// Zod, Valibot and ArkType are schemas too: the body gets what they make of the input.
const greet = defineTool({
  name: 'greet',
  description: 'Greets somebody',
  input: z.object({ name: z.string().trim().min(1), loud: z.boolean().default(false) }),
  execute: ({ name, loud }) => (loud ? `HELLO ${name.toUpperCase()}` : `Hello ${name}`),
})
const call = { id: 'call-2', name: 'greet', arguments: '{"name":" Ada "}' }
console.log((await runTool(greet, call)).result.output)
// {"guests":4,"requests":["window"],"outside":false}
// Hello Ada
