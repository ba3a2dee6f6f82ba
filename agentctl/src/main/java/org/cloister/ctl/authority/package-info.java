/** The site's registration authority and certificate renewal. */
@NullMarked
package org.cloister.ctl.authority;

import org.jspecify.annotations.NullMarked;
