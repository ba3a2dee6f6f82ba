@NullMarked
package org.cloister.host.plan;

import org.jspecify.annotations.NullMarked;
