import { defineTool, runToolCalls, toModelText, Type } from '../src/index.ts'

const forecast = defineTool({
  name: 'forecast',
  description: 'Forecasts the weather of a city',
  input: Type.Object({ city: Type.String(), days: Type.Integer({ minimum: 1, maximum: 7 }) }),
  output: Type.Object({ degrees: Type.Number() }),
  async execute({ city, days }, { signal }) {
    signal.throwIfAborted()
    if (city === 'Atlantis') throw new Error('Atlantis has sunk')
    return { degrees: 20 + days }
  },
})

const calls = [
  { id: 'a', name: 'forecast', arguments: '{"city":"Bonn","days":3}' },
  { id: 'b', name: 'forecast', arguments: '{"days":0}' },
  { id: 'c', name: 'forecast', arguments: '{"city":"Atlantis","days":1}' },
]
const outcomes = await runToolCalls([forecast], calls)
for (const { result } of outcomes) console.log(toModelText(result))
// {"degrees":23}
// Error: Invalid input for "forecast": /city is required; /days must be >= 1, got 0
// Error: Atlantis has sunk
