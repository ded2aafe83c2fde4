/** Returns the input of the tool of the benchmarks as a schema of zod. */
export function orderSchema(z) {
  return z.object({
    item: z.string(),
    count: z.number().int().min(1),
    size: z.enum(['s', 'm', 'l']),
    gift: z.boolean(),
    tags: z.array(z.string()),
  })
}
