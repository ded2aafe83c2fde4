/** The tool of this example, with nested schemas for its input and output. */
import { defineTool, Type } from '@tutti/core'

const Guest = Type.Object({
  name: Type.String({ minLength: 1 }),
  allergies: Type.Array(Type.String(), { default: [] }),
})

/** Books a table. The types of `execute` are derived from the schemas. */
export const bookTable = defineTool({
  name: 'book_table',
  description: 'Books a table in a restaurant',
  input: Type.Object({
    day: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'Such as 2026-12-24' }),
    place: Type.Enum(['window', 'garden'], { default: 'window' }),
    guests: Type.Array(Guest, { minItems: 1, maxItems: 6 }),
  }),
  output: Type.Object({
    table: Type.Integer(),
    seats: Type.Integer(),
    kitchen: Type.Array(Type.String()),
  }),
  outputCheck: 'strict',
  execute({ place, guests }) {
    return {
      table: place === 'window' ? 7 : 21,
      seats: guests.length,
      kitchen: guests.flatMap(({ name, allergies }) =>
        allergies.map((allergy) => `${name}: no ${allergy}`),
      ),
    }
  },
})
