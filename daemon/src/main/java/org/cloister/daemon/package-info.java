/** What every daemon has: a configuration that is read strictly, systemd, and an orderly stop. */
@NullMarked
package org.cloister.daemon;

import org.jspecify.annotations.NullMarked;
