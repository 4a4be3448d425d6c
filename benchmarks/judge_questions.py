"""Draw synthetic questions for a person to judge, each with its article.

    python benchmarks/judge_questions.py QUESTIONS.jsonl --data supervision [--seed 4] [--count 100]

Prints them numbered, with the line of the file they stand in. The marks that were given, 0 or 1, are in
results/questions-judged.jsonl: `french` (is it French), `about` (is it about the article), `asked` (would someone ask
it, or look for it by these words). Words near a sheet's title are left out there.
"""

import argparse
import random
from pathlib import Path

from lexarbor.supervision.folder import SupervisionFolder
from lexarbor.supervision.synthetic import read_synthetic


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument(
        "--data", type=Path, required=True, action="append", help="a supervision folder; may be repeated"
    )
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--count", type=int, default=100)
    given = parser.parse_args()
    articles = {one.id: one for path in given.data for one in SupervisionFolder.open(path).articles}
    questions = read_synthetic(given.questions)
    for number, line in enumerate(random.Random(given.seed).sample(range(len(questions)), given.count)):
        one = questions[line]
        article = articles[one.article]
        print(f"{number} (line {line + 1}) {one.question}")
        print(f"    {one.article} [{' > '.join(article.headings[-2:])}] {' '.join(article.text.split())[:300]}")


if __name__ == "__main__":
    main()
