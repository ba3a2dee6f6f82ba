/** The strict JSON reader. */
@NullMarked
package org.cloister.base.json;

import org.jspecify.annotations.NullMarked;
