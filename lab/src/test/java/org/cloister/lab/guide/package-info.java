/** Guides of {@code docs/} whose commands are run on a booted site. */
@NullMarked
package org.cloister.lab.guide;

import org.jspecify.annotations.NullMarked;
