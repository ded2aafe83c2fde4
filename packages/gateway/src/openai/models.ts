/** Routes that list models as OpenAI's API does: the shared ensembles, and the shared models of the catalog. */
import { TuttiError } from '@tutti/core'
import { unknownName } from '@tutti/protocol/internal'

import { listSharedModels, type ListedModel } from '../service/find-model.ts'
import { toOpenAiResponse } from './errors.ts'

import type { Sharing } from '../gateway-options.ts'
import type { HttpRoute } from '../http/route.ts'

/** Returns the routes for models. */
export function modelRoutes(sharing: Sharing): readonly HttpRoute[] {
  const shared = { method: 'GET', scope: 'runs:read', toErrorResponse: toOpenAiResponse } as const
  return [
    {
      ...shared,
      path: '/v1/models',
      handle: () => Response.json({ object: 'list', data: listSharedModels(sharing).map(toModel) }),
    },
    {
      ...shared,
      path: '/v1/models/{name}',
      handle: ({ parameters: { name = '' } }) => {
        const models = listSharedModels(sharing)
        const found = models.find((model) => model.name === name)
        if (found !== undefined) return Response.json(toModel(found))
        const known = models.map((model) => model.name)
        throw new TuttiError('INVALID_MODEL', unknownName('model', name, known))
      },
    },
  ]
}

/** Returns a model as OpenAI's API does. The time of its creation is not known, and 0. */
function toModel({ name, owner }: ListedModel) {
  return { id: name, object: 'model', created: 0, owned_by: owner }
}
