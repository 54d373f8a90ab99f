package transcript

// markerKey is the key a clone adds to the lines whose text it replaced. Hosts
// ignore it; it keeps a later run from compressing the text again and leads
// back to the original.
const markerKey = "overtone"
