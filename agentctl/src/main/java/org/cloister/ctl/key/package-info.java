/** Private keys of people and of the site's CA, on a token or under a passphrase, and the public halves as files. */
@NullMarked
package org.cloister.ctl.key;

import org.jspecify.annotations.NullMarked;
