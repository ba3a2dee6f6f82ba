/** Opens the project's drive and creates its folders. */
@NullMarked
package org.cloister.vm.controller.drive;

import org.jspecify.annotations.NullMarked;
