import { trip } from './trip.ts'

const { status, output } = await trip.run({ city: 'Lisbon' })
console.log(status, output) // COMPLETED A shirt will do.
