/** A site whose machines boot: each has its own kernel, systemd and Debian, and nothing of this checkout. */
@NullMarked
package org.cloister.lab.booted;

import org.jspecify.annotations.NullMarked;
