/** Tests of the built packages: what is in them, and what they do to a clean system. */
@NullMarked
package org.cloister.packaging;

import org.jspecify.annotations.NullMarked;
