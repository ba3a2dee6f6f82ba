/** Settings of a project, its machine and its folders. */
@NullMarked
package org.cloister.vm.controller.config;

import org.jspecify.annotations.NullMarked;
