/** Keys sealed to a receiver and opened again: HPKE (RFC 9180) in libcrypto, on secret memory from end to end. */
@NullMarked
package org.cloister.luks.key;

import org.jspecify.annotations.NullMarked;
