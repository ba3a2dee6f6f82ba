@NullMarked
package org.cloister.host.resources;

import org.jspecify.annotations.NullMarked;
