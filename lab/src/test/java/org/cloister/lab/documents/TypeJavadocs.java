package org.cloister.lab.documents;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Javadoc of the types below a folder of sources.
 *
 * @param texts by {@code package.Outer.Inner}
 */
record TypeJavadocs(Map<String, String> texts) {
    /** Prepositions, conjunctions and pronouns: a text that opens with one does not say what the type is. */
    private static final Set<String> NO_SUBJECT = Set.of(
            ("about above after although among and as at because before behind below beside between but by during for from"
                            + " how if in into it its like near nobody nothing of off on onto or out over per since so that"
                            + " their there they though through to toward under unless until up upon what"
                            + " whatever when whenever where whether which whichever while who whoever whom whose why with"
                            + " within without")
                    .split(" ", -1));

    static TypeJavadocs below(Path sources) throws IOException {
        TypeJavadocs javadocs = new TypeJavadocs(new TreeMap<>());
        ParsedSources parsed = ParsedSources.below(sources);
        for (CompilationUnitTree unit : parsed.units()) {
            javadocs.new Reader(parsed.comments().orElseThrow()).scan(new TreePath(unit), null);
        }
        return javadocs;
    }

    /** Whether a text opens with a word that is neither a verb nor part of a noun phrase. */
    static boolean opensWithoutSubject(String text) {
        String first = text.strip().replaceFirst("(?s)[^A-Za-z].*", "").toLowerCase(Locale.ROOT);
        return NO_SUBJECT.contains(first);
    }

    /** Records the texts of a unit's types. */
    private final class Reader extends TreePathScanner<Void, Void> {
        private final DocTrees comments;

        Reader(DocTrees comments) {
            this.comments = comments;
        }

        @Override
        public Void visitClass(ClassTree type, Void nothing) {
            String text = comments.getDocComment(getCurrentPath());
            if (text != null && !type.getSimpleName().isEmpty()) {
                texts.put(name(getCurrentPath()), text.strip());
            }
            return super.visitClass(type, null);
        }

        private static String name(TreePath path) {
            StringBuilder name = new StringBuilder();
            for (TreePath at = path; at != null; at = at.getParentPath()) {
                if (at.getLeaf() instanceof ClassTree type
                        && !type.getSimpleName().isEmpty()) {
                    name.insert(0, "." + type.getSimpleName());
                }
            }
            return path.getCompilationUnit().getPackageName() + name.toString();
        }
    }
}
