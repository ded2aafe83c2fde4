/**
 * Closed schemas of the objects of A2A 1.0. They were written from `a2a.proto`, independent of Tutti's own types, so that
 * an error in one is unlikely to be repeated in the other.
 */
import { Type, type TSchema } from '@tutti/core'
import { decode } from '@tutti/protocol'

const CLOSED = { additionalProperties: false } as const
const Struct = Type.Object({})
const optional = Type.Optional
const Text = Type.String()

const PART_MORE = {
  metadata: optional(Struct),
  filename: optional(Text),
  mediaType: optional(Text),
}

const Part = Type.Union([
  Type.Object({ text: Text, ...PART_MORE }, CLOSED),
  Type.Object({ raw: Text, ...PART_MORE }, CLOSED),
  Type.Object({ url: Text, ...PART_MORE }, CLOSED),
  Type.Object({ data: Type.Unknown(), ...PART_MORE }, CLOSED),
])

const Message = Type.Object(
  {
    messageId: Type.String({ minLength: 1 }),
    contextId: optional(Text),
    taskId: optional(Text),
    role: Type.Enum(['ROLE_USER', 'ROLE_AGENT']),
    parts: Type.Array(Part, { minItems: 1 }),
    metadata: optional(Struct),
    extensions: optional(Type.Array(Text)),
    referenceTaskIds: optional(Type.Array(Text)),
  },
  CLOSED,
)

const Artifact = Type.Object(
  {
    artifactId: Type.String({ minLength: 1 }),
    name: optional(Text),
    description: optional(Text),
    parts: Type.Array(Part, { minItems: 1 }),
    metadata: optional(Struct),
    extensions: optional(Type.Array(Text)),
  },
  CLOSED,
)

const STATES = [
  'SUBMITTED',
  'WORKING',
  'COMPLETED',
  'FAILED',
  'CANCELED',
  'INPUT_REQUIRED',
  'REJECTED',
  'AUTH_REQUIRED',
].map((state) => `TASK_STATE_${state}`)

const TaskStatus = Type.Object(
  {
    state: Type.Enum(STATES),
    message: optional(Message),
    timestamp: optional(Type.String({ pattern: String.raw`^\d{4}-\d\d-\d\dT[\d:]{8}(\.\d+)?Z$` })),
  },
  CLOSED,
)

/** Schema of a task. */
export const TaskShape = Type.Object(
  {
    id: Type.String({ minLength: 1 }),
    contextId: optional(Text),
    status: TaskStatus,
    artifacts: optional(Type.Array(Artifact)),
    history: optional(Type.Array(Message)),
    metadata: optional(Struct),
  },
  CLOSED,
)

/** Schema of the response to a message. */
export const SentShape = Type.Union([
  Type.Object({ task: TaskShape }, CLOSED),
  Type.Object({ message: Message }, CLOSED),
])

/** Schema of a page of tasks. */
export const PageShape = Type.Object(
  {
    tasks: Type.Array(TaskShape),
    nextPageToken: Text,
    pageSize: Type.Integer(),
    totalSize: Type.Integer(),
  },
  CLOSED,
)

/** Schema of one message of a stream. */
export const StreamShape = Type.Union([
  Type.Object({ task: TaskShape }, CLOSED),
  Type.Object({ message: Message }, CLOSED),
  Type.Object(
    {
      statusUpdate: Type.Object(
        { taskId: Text, contextId: Text, status: TaskStatus, metadata: optional(Struct) },
        CLOSED,
      ),
    },
    CLOSED,
  ),
  Type.Object(
    {
      artifactUpdate: Type.Object(
        {
          taskId: Text,
          contextId: Text,
          artifact: Artifact,
          append: optional(Type.Boolean()),
          lastChunk: optional(Type.Boolean()),
          metadata: optional(Struct),
        },
        CLOSED,
      ),
    },
    CLOSED,
  ),
])

const AgentInterface = Type.Object(
  {
    url: Type.String({ pattern: '^https?://' }),
    protocolBinding: Type.Enum(['JSONRPC', 'HTTP+JSON', 'GRPC']),
    tenant: optional(Text),
    protocolVersion: Type.String({ pattern: String.raw`^\d+\.\d+$` }),
  },
  CLOSED,
)

const Requirement = Type.Object(
  {
    schemes: Type.Object(
      {},
      { additionalProperties: Type.Object({ list: Type.Array(Text) }, CLOSED) },
    ),
  },
  CLOSED,
)

/** Schema of an agent card. */
export const CardShape = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    description: Type.String({ minLength: 1 }),
    supportedInterfaces: Type.Array(AgentInterface, { minItems: 1 }),
    provider: optional(Type.Object({ url: Text, organization: Text }, CLOSED)),
    version: Type.String({ minLength: 1 }),
    documentationUrl: optional(Text),
    capabilities: Type.Object(
      {
        streaming: optional(Type.Boolean()),
        pushNotifications: optional(Type.Boolean()),
        extensions: optional(
          Type.Array(
            Type.Object(
              {
                uri: Text,
                description: Text,
                required: Type.Boolean(),
                params: optional(Struct),
              },
              CLOSED,
            ),
          ),
        ),
        extendedAgentCard: optional(Type.Boolean()),
      },
      CLOSED,
    ),
    securitySchemes: optional(
      Type.Object(
        {},
        {
          additionalProperties: Type.Object(
            {
              httpAuthSecurityScheme: Type.Object(
                { scheme: Text, description: optional(Text), bearerFormat: optional(Text) },
                CLOSED,
              ),
            },
            CLOSED,
          ),
        },
      ),
    ),
    securityRequirements: optional(Type.Array(Requirement)),
    defaultInputModes: Type.Array(Text, { minItems: 1 }),
    defaultOutputModes: Type.Array(Text, { minItems: 1 }),
    skills: Type.Array(
      Type.Object(
        {
          id: Type.String({ minLength: 1 }),
          name: Type.String({ minLength: 1 }),
          description: Type.String({ minLength: 1 }),
          tags: Type.Array(Text, { minItems: 1 }),
          examples: optional(Type.Array(Text)),
          inputModes: optional(Type.Array(Text)),
          outputModes: optional(Type.Array(Text)),
          securityRequirements: optional(Type.Array(Requirement)),
        },
        CLOSED,
      ),
      { minItems: 1 },
    ),
    signatures: optional(Type.Array(Type.Unknown())),
    iconUrl: optional(Text),
  },
  CLOSED,
)

/** Returns the problems of a value; empty when it has the shape. */
export function findMisfits(schema: TSchema, value: unknown): readonly string[] {
  const decoded = decode(schema, value)
  if (decoded.ok) return []
  return decoded.problems.map(
    ({ path, message }) => `${path} ${message} in ${JSON.stringify(value)}`,
  )
}
