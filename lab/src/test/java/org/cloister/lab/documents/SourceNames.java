package org.cloister.lab.documents;

import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.lang.model.element.Modifier;

/**
 * Names that a module's sources declare. Sources are parsed, not compiled.
 *
 * @param packages those of main sources
 * @param types every type, nested ones too, as {@code package.Outer.Inner}
 * @param topLevel types that are not nested, by their full names
 * @param methods of main sources, as {@code Type#method}: not private, not overriding, no accessor of a record, no C function
 * @param values fields, parameters and local variables, as {@code Type#value}
 */
record SourceNames(
        Set<String> packages, Set<String> types, Set<String> topLevel, Set<String> methods, Set<String> values) {
    private static final Set<String> OF_LIBRARIES = Set.of("endsWith", "beginObject", "endObject");

    static SourceNames in(Path module) throws IOException {
        SourceNames names =
                new SourceNames(new TreeSet<>(), new TreeSet<>(), new TreeSet<>(), new TreeSet<>(), new TreeSet<>());
        for (String set : List.of("main", "test")) {
            Path sources = module.resolve("src").resolve(set).resolve("java");
            if (Files.isDirectory(sources)) {
                names.read(sources, set.equals("main"));
            }
        }
        return names;
    }

    /** Reads all sources below a folder. */
    void read(Path sources, boolean isMain) throws IOException {
        for (CompilationUnitTree unit : ParsedSources.below(sources).units()) {
            String in = unit.getPackageName().toString();
            if (isMain) {
                packages.add(in);
            }
            new Declarations(in, isMain).scan(unit.getTypeDecls(), null);
        }
    }

    private final class Declarations extends TreeScanner<Void, Void> {
        private final List<String> enclosing = new ArrayList<>();
        private final boolean isMain;

        Declarations(String in, boolean isMain) {
            this.enclosing.add(in);
            this.isMain = isMain;
        }

        @Override
        public Void visitClass(ClassTree type, Void nothing) {
            if (type.getSimpleName().isEmpty()) {
                return super.visitClass(type, null);
            }
            enclosing.add(type.getSimpleName().toString());
            String name = String.join(".", enclosing);
            types.add(name);
            if (enclosing.size() == 2) {
                topLevel.add(name);
            }
            if (isMain && !declaresC(type)) {
                Set<String> components = components(type);
                type.getMembers().stream()
                        .filter(member -> member instanceof MethodTree method && isNamedHere(method, components))
                        .forEach(member -> methods.add(name + "#" + ((MethodTree) member).getName()));
            }
            super.visitClass(type, null);
            enclosing.remove(enclosing.size() - 1);
            return null;
        }

        @Override
        public Void visitVariable(VariableTree value, Void nothing) {
            values.add(String.join(".", enclosing) + "#" + value.getName());
            return super.visitVariable(value, null);
        }
    }

    private static boolean isNamedHere(MethodTree method, Set<String> components) {
        String name = method.getName().toString();
        return !method.getModifiers().getFlags().contains(Modifier.PRIVATE)
                && method.getModifiers().getAnnotations().stream().noneMatch(SourceNames::isOverride)
                && !components.contains(name)
                && !OF_LIBRARIES.contains(name);
    }

    private static boolean isOverride(AnnotationTree annotation) {
        return annotation.getAnnotationType().toString().equals("Override");
    }

    /** Their accessors are nouns of the field, as a certificate's first and last moment are {@code begins} and {@code ends}. */
    private static Set<String> components(ClassTree type) {
        return type.getKind() != Tree.Kind.RECORD
                ? Set.of()
                : type.getMembers().stream()
                        .filter(member -> member instanceof VariableTree field
                                && !field.getModifiers().getFlags().contains(Modifier.STATIC))
                        .map(member -> ((VariableTree) member).getName().toString())
                        .collect(Collectors.toSet());
    }

    /** An interface of jnr-ffi has the library's names. */
    private static boolean declaresC(ClassTree type) {
        String name = type.getSimpleName().toString();
        return type.getKind() == Tree.Kind.INTERFACE && (name.startsWith("Lib") || name.endsWith("LibC"));
    }
}
