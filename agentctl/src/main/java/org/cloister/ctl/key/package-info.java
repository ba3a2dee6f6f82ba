/** Private keys, passphrases and login folders. */
@NullMarked
package org.cloister.ctl.key;

import org.jspecify.annotations.NullMarked;
