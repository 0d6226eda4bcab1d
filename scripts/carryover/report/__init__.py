"""What is made of results to be read.

- `page`: the report, every figure, table and claim on one page; `claims_page`: the table of claims.
- `typesetting`: tables in Markdown and in LaTeX.
"""
