/** Evidence statements: claims, signing and appraisal. */
@NullMarked
package org.cloister.protocol.evidence;

import org.jspecify.annotations.NullMarked;
