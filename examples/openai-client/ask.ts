/** Asks an ensemble and a model over OpenAI's API, with the client of `openai`. */
import OpenAI from 'openai'

/** Asks the server at a URL; a server with API keys needs one in place of `none`. */
export async function ask(url: string): Promise<void> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none' })
  const models = await client.models.list()
  console.log(`models: ${models.data.map(({ id }) => id).join(', ')}`)

  const stream = await client.chat.completions.create({
    model: 'poet',
    messages: [{ role: 'user', content: 'moon' }],
    stream: true,
  })
  let poem = ''
  for await (const chunk of stream) poem += chunk.choices[0]?.delta.content ?? ''
  console.log(`poet: ${poem}`)

  const runner = client.chat.completions.runTools({
    model: 'assistant',
    messages: [{ role: 'user', content: 'What is the weather in Bonn?' }],
    tools: [
      {
        type: 'function',
        function: {
          name: 'weather',
          description: 'Returns the weather of a city',
          parameters: { type: 'object', properties: { city: { type: 'string' } } },
          parse: JSON.parse,
          function: ({ city }: { city: string }) => `rain in ${city}`,
        },
      },
    ],
  })
  console.log(`assistant: ${await runner.finalContent()}`)
}
