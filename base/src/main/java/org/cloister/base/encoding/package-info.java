/** Bytes as base64, base32 and hex text, fields behind their lengths, digests, and the error for malformed input. */
@NullMarked
package org.cloister.base.encoding;

import org.jspecify.annotations.NullMarked;
