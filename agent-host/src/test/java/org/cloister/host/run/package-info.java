@NullMarked
package org.cloister.host.run;

import org.jspecify.annotations.NullMarked;
