export function writeChart() {}
