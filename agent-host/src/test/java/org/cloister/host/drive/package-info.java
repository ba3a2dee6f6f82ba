@NullMarked
package org.cloister.host.drive;

import org.jspecify.annotations.NullMarked;
