/** HPKE, drive envelopes and key files with libcrypto and libargon2. */
@NullMarked
package org.cloister.luks.key;

import org.jspecify.annotations.NullMarked;
