/** Clients of other projects: the A2A SDK and the MCP SDK. */
import { SendMessageRequest, TaskState, type Part } from '@a2a-js/sdk'
import { ClientFactory } from '@a2a-js/sdk/client'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

/** Calls an agent over A2A. Returns its answer, and prints its progress. */
export async function callOverA2a(url: string, text: string): Promise<string> {
  const client = await new ClientFactory().createFromUrl(url)
  const { skills } = await client.getAgentCard()
  console.log('skills:', skills.map(({ name }) => name).join(', '))
  const message = { messageId: 'message-1', role: 'ROLE_USER', parts: [{ text }] }
  const pieces: string[] = []
  for await (const { payload } of client.sendMessageStream(
    SendMessageRequest.fromJSON({ message }),
  )) {
    if (payload?.$case === 'artifactUpdate') {
      pieces.push(...(payload.value.artifact?.parts ?? []).map(readText))
    } else if (payload?.$case === 'statusUpdate') {
      console.log(TaskState[payload.value.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED])
    }
  }
  return pieces.join('')
}

function readText({ content }: Part): string {
  return content?.$case === 'text' ? content.value : ''
}

/** Calls tools of an MCP server. Returns their answers, and prints the list of tools. */
export async function callOverMcp(
  url: string,
  calls: readonly (readonly [name: string, input: Record<string, string>])[],
): Promise<readonly string[]> {
  const client = new Client({ name: 'another-client', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  const { tools } = await client.listTools()
  console.log('tools:', tools.map(({ name }) => name).join(', '))
  const answers: string[] = []
  for (const [name, input] of calls) {
    const { content } = await client.callTool({ name, arguments: input })
    answers.push(content.map((part) => (part.type === 'text' ? part.text : part.type)).join(' '))
  }
  await client.close()
  return answers
}
