/** LUKS2 volumes through libcryptsetup, and their erasure. */
@NullMarked
package org.cloister.luks.volume;

import org.jspecify.annotations.NullMarked;
