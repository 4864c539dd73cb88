// Package checkjs carries the checker in JavaScript, so that a program which
// runs it needs none from elsewhere.
package checkjs

import "embed"

// Files are what `node cli.js` needs, side by side.
//
//go:embed check.js cli.js sources.js words.js package.json
var Files embed.FS
